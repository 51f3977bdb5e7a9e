import { explainForUser, type QuoteStreamParams } from '@quote-aggregator/client'
import { formatUnits, parseUnits } from 'viem'
import { useConnect, useConnection, useConnectors } from 'wagmi'
import { useChains, useOrder, usePrice, useQuotes, useSwap, useTokens } from './aggregator-hooks'
import { chainId, inputToken, outputToken, settlement } from './config'

const SALE = {
  chainId,
  inputToken,
  outputToken,
  orderType: 'EXACT_INPUT',
  amount: parseUnits('1', 18),
} as const
const OUTPUT_DECIMALS = 6

/** Sells one WETH: price, quote, check, deposit, and the order to its last state. */
export function Swap() {
  const { address } = useConnection()
  // Before a wallet is connected there is no user, and no stream.
  const params: QuoteStreamParams | undefined = address && { ...SALE, user: address, depositMode: 'CONTRACT' }
  const price = usePrice(params === undefined ? SALE : undefined)
  const quotes = useQuotes(params)
  const swap = useSwap(settlement)
  const order = useOrder(chainId, swap.data)

  if (params === undefined)
    return (
      <>
        <p>{price.data && `About ${inUsdc(price.data.best.outputAmount)} USDC for 1 WETH`}</p>
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
          ? `1 WETH for ${inUsdc(best.quote.outputAmount)} USDC`
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

const inUsdc = (amount: bigint) => formatUnits(amount, OUTPUT_DECIMALS)

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
