import {
  type DepositProgress,
  explainForUser,
  isDepositBegun,
  type QuoteStreamParams,
} from '@quote-aggregator/client'
import { formatUnits, parseUnits } from 'viem'
import { useConnect, useConnection, useConnectors, useSendTransaction, useSwitchChain } from 'wagmi'
import {
  useChains,
  useIsOnePrompt,
  useOfferCheck,
  useOrder,
  usePrice,
  useQuotes,
  useRefund,
  useSwap,
  useToken,
  useTokens,
} from './aggregator-hooks'
import { chainId, inputToken, outputToken, settlement } from './config'

/** What the wallet is asked for. Of a transfer, `confirmBy` says until when to confirm it. */
function wordsOf({ step, state }: DepositProgress): string {
  if (state === 'late')
    return 'Do not confirm in your wallet any more. What you send now may stay at the address until you take it back.'
  if (step === 'approve') return 'Approve the token in your wallet, and wait for the block.'
  return 'Confirm the deposit in your wallet, and wait for the block.'
}

/** Sells one of the input token. Symbols and decimals come from the contracts, through the page's node. */
export function SwapPage() {
  const input = useToken(chainId, inputToken)
  const output = useToken(chainId, outputToken)
  const error = input.error ?? output.error
  if (input.data && output.data) return <Swap input={input.data} output={output.data} />
  return error ? <p role="alert">{explainForUser(error, { wasAsked: false })}</p> : <p>Reading the tokens</p>
}

type KnownToken = NonNullable<ReturnType<typeof useToken>['data']>

/** Price, quote, check, deposit, and the order to its last state. */
function Swap({ input, output }: { readonly input: KnownToken; readonly output: KnownToken }) {
  const { address, chainId: network } = useConnection()
  const { mutate: switchChain } = useSwitchChain()
  const sale = {
    chainId,
    inputToken,
    outputToken,
    orderType: 'EXACT_INPUT',
    amount: parseUnits('1', input.decimals),
  } as const
  // Before a wallet is connected there is no user, and no stream.
  const isOnePrompt = useIsOnePrompt(chainId, inputToken, sale.amount, settlement)
  const params: QuoteStreamParams | undefined = address && {
    ...sale,
    user: address,
    depositMode: 'CONTRACT',
    ...(isOnePrompt && { minDepositWindow: 60 }),
  }
  const inOutput = (amount: bigint) => `${formatUnits(amount, output.decimals)} ${output.symbol}`
  const price = usePrice(params === undefined ? sale : undefined)
  const quotes = useQuotes(params)
  const { best, limits } = quotes.data ?? {}
  const taken = params && best && limits && { offer: best, params, limits }
  const check = useOfferCheck(taken, settlement)
  const swap = useSwap(chainId, settlement)
  const order = useOrder(chainId, swap.orderId, settlement)
  const refund = useRefund(chainId, settlement).data
  const { mutate: send, isPending: isSending } = useSendTransaction()

  if (params === undefined)
    return (
      <>
        <p>{price.data && `About ${inOutput(price.data.best.outputAmount)} for 1 ${input.symbol}`}</p>
        <Connect />
        <Instance />
      </>
    )
  // What is said of the next offer must not take the place of what is said of the swap.
  const error = swap.error ?? (swap.isIdle ? (quotes.error ?? check.error) : null)
  return (
    <>
      <p>
        {best
          ? `1 ${input.symbol} for ${inOutput(best.quote.outputAmount)}`
          : quotes.data
            ? explainForUser(quotes.data.declineCode ?? 'NO_QUOTES')
            : quotes.lost
              ? explainForUser(quotes.lost, { wasAsked: false })
              : 'Asking for a quote'}
      </p>
      {swap.isUncertain ? (
        <Button label="My wallet will send nothing more" onClick={swap.forget} />
      ) : network !== chainId ? (
        <Button label="Switch network" onClick={() => switchChain({ chainId })} />
      ) : (
        <Button
          label="Swap"
          disabled={!check.isSuccess || swap.isPending}
          onClick={() => taken && swap.mutate(taken)}
        />
      )}
      {order.data && (
        <output>
          {swap.isIdle && 'Your last swap: '}
          {order.data.state}
        </output>
      )}
      {(swap.isPending || swap.isUncertain) && swap.progress && swap.progress.state !== 'mined' && (
        <p>{wordsOf(swap.progress)}</p>
      )}
      {refund && (
        <Button
          label={`Take back what order ${refund.orderId.slice(0, 10)} has left`}
          disabled={isSending}
          onClick={() => send({ ...refund.call, chainId })}
        />
      )}
      {error && <p role="alert">{explainForUser(error, { wasAsked: isDepositBegun(swap.progress) })}</p>}
      {/* The instance chooses the code of an error, which says nothing of the tokens. */}
      {swap.isSuccess && !order.data && (
        <p role="status">The contract has your tokens. Reading your order.</p>
      )}
    </>
  )
}

interface ButtonProps {
  readonly label: string
  readonly disabled?: boolean
  readonly onClick: () => void
}

function Button({ label, ...props }: ButtonProps) {
  return (
    <button type="button" {...props}>
      {label}
    </button>
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
    <Button
      label="Connect wallet"
      disabled={connector === undefined}
      onClick={() => connector && connect({ connector })}
    />
  )
}
