import { explainForUser, isDepositBegun } from '@quote-aggregator/client'
import { formatUnits, parseUnits } from 'viem'
import { useConnect, useConnection, useConnectors, useSwitchChain } from 'wagmi'
import { useOfferCheck, useOrder, useQuotes, useSwap, useToken } from './aggregator-hooks'
import { chainId, inputToken, outputToken, settlement } from './config'

/** Sells one of a token of 18 decimals. */
export function SmallSwap() {
  const { address, chainId: network } = useConnection()
  const { mutate: connect } = useConnect()
  const { mutate: switchChain } = useSwitchChain()
  const [connector] = useConnectors()
  const output = useToken(chainId, outputToken).data
  const sale = { chainId, inputToken, outputToken, amount: parseUnits('1', 18) }
  const params =
    address && ({ ...sale, orderType: 'EXACT_INPUT', user: address, depositMode: 'CONTRACT' } as const)
  const { data: quotes, lost, error: ended } = useQuotes(params)
  const { best, limits } = quotes ?? {}
  const taken = params && best && limits && { offer: best, params, limits }
  const check = useOfferCheck(taken, settlement)
  const swap = useSwap(chainId, settlement)
  const order = useOrder(chainId, swap.orderId, settlement).data
  const error = swap.error ?? (swap.isIdle ? (ended ?? check.error ?? lost) : null)

  if (!params) return <Button label="Connect wallet" onClick={() => connector && connect({ connector })} />
  if (network !== chainId) return <Button label="Switch network" onClick={() => switchChain({ chainId })} />
  return (
    <>
      {best && output && <p>You get {formatUnits(best.quote.outputAmount, output.decimals)}</p>}
      {quotes && !best && <p>{explainForUser(quotes.declineCode ?? 'NO_QUOTES')}</p>}
      {swap.isUncertain ? (
        <Button label="My wallet will send nothing more" onClick={swap.forget} />
      ) : (
        taken &&
        check.isSuccess && <Button label="Swap" onClick={() => swap.isPending || swap.mutate(taken)} />
      )}
      {order && <output>{order.state}</output>}
      {error && <p role="alert">{explainForUser(error, { wasAsked: isDepositBegun(swap.progress) })}</p>}
    </>
  )
}

const Button = ({ label, onClick }: { readonly label: string; readonly onClick: () => void }) => (
  <button type="button" onClick={onClick}>
    {label}
  </button>
)
