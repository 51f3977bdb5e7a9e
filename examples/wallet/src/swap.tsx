import { explainForUser, type QuoteStreamParams } from '@quote-aggregator/client'
import { formatUnits, isAddressEqual, parseUnits } from 'viem'
import { useConnect, useConnection, useConnectors } from 'wagmi'
import { useChains, useOrder, usePrice, useQuotes, useSwap, useTokens } from './aggregator-hooks'
import { chainId, inputToken, outputToken, settlement } from './config'

/** A token that the operator has listed. No one else's decimals may decide about money. */
interface Listed {
  readonly symbol: string
  readonly decimals: number
}

/** Sells one of the input token, when the operator has listed both tokens. */
export function SwapPage() {
  const { data: tokens, error } = useTokens(chainId)
  const [input, output] = [inputToken, outputToken].map((address): Listed | undefined => {
    const token = tokens?.find((one) => one.listed && isAddressEqual(one.address, address))
    const { symbol, decimals } = token ?? {}
    return symbol === undefined || decimals === undefined ? undefined : { symbol, decimals }
  })
  if (input !== undefined && output !== undefined) return <Swap input={input} output={output} />
  if (error) return <p role="alert">{explainForUser(error)}</p>
  return <p>{tokens === undefined ? 'Reading the tokens' : 'The operator has not listed these tokens.'}</p>
}

/** Price, quote, check, deposit, and the order to its last state. */
function Swap({ input, output }: { readonly input: Listed; readonly output: Listed }) {
  const { address } = useConnection()
  const sale = {
    chainId,
    inputToken,
    outputToken,
    orderType: 'EXACT_INPUT',
    amount: parseUnits('1', input.decimals),
  } as const
  // Before a wallet is connected there is no user, and no stream.
  const params: QuoteStreamParams | undefined = address && { ...sale, user: address, depositMode: 'CONTRACT' }
  const inOutput = (amount: bigint) => `${formatUnits(amount, output.decimals)} ${output.symbol}`
  const price = usePrice(params === undefined ? sale : undefined)
  const quotes = useQuotes(params)
  const swap = useSwap(settlement)
  const order = useOrder(chainId, swap.data)

  if (params === undefined)
    return (
      <>
        <p>{price.data && `About ${inOutput(price.data.best.outputAmount)} for 1 ${input.symbol}`}</p>
        <Connect />
        <Instance />
      </>
    )
  const best = quotes.data?.best
  const error = quotes.error ?? swap.error ?? order.error
  return (
    <>
      <p>
        {best
          ? `1 ${input.symbol} for ${inOutput(best.quote.outputAmount)}`
          : quotes.data
            ? explainForUser('NO_QUOTES')
            : 'Asking for a quote'}
      </p>
      <button
        type="button"
        disabled={!best || swap.isPending}
        onClick={() => best && swap.mutate({ offer: best, params })}
      >
        Swap
      </button>
      {order.data && <output>{order.data.state}</output>}
      {error && <p role="alert">{explainForUser(error)}</p>}
    </>
  )
}

/** Where the page trades, and what: the names of tokens that are not on the operator's list can be anything. */
function Instance() {
  const chain = useChains().data?.find((served) => served.chainId === chainId)
  const tokens = useTokens(chainId).data?.filter(({ listed }) => listed)
  return (
    <small>
      {chain && `On ${chain.name}. `}
      {tokens && tokens.length > 0 && `Tokens: ${tokens.map(({ symbol }) => symbol).join(', ')}`}
    </small>
  )
}

function Connect() {
  const { mutate: connect } = useConnect()
  const [connector] = useConnectors()
  return (
    <button
      type="button"
      disabled={connector === undefined}
      onClick={() => connector && connect({ connector })}
    >
      Connect wallet
    </button>
  )
}
