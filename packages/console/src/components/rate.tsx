import { useEffect } from 'preact/hooks'
import { tokenOf } from '../data/tokens/tokens.js'
import { formatRate } from '../format/amount.js'
import { TokenName } from './token-amount.js'

/** What is given for what. */
export interface SwapAmounts {
  readonly inputToken?: string | undefined
  readonly inputAmount?: string | undefined
  readonly outputToken?: string | undefined
  readonly outputAmount?: string | undefined
  readonly outputChainId?: bigint | undefined
}

interface RateProps {
  readonly chainId: bigint
  readonly swap: SwapAmounts
  /** Whether nothing newer has come for long: then the title of the page does not say it. */
  readonly isOld?: boolean
  /** Whether it is that of a receipt, from which a person computes. */
  readonly isExact?: boolean
}

/** What one whole token of each side costs, also in the title of the page when both are listed. Nothing while decimals are not known. */
export function Rate({ chainId, swap, isOld = false, isExact }: RateProps) {
  const { inputToken = '', outputToken = '', outputChainId = chainId } = swap
  const [input, output] = [BigInt(swap.inputAmount ?? 0), BigInt(swap.outputAmount ?? 0)]
  const sold = tokenOf(chainId, inputToken)
  const bought = tokenOf(outputChainId, outputToken)
  const rate = formatRate(input, output, sold?.decimals, bought?.decimals, isExact)
  const back = formatRate(output, input, bought?.decimals, sold?.decimals, isExact)
  const isTold = rate !== undefined && !isOld && sold?.isListed && bought?.isListed
  useEffect(() => {
    const { title } = document
    if (isTold) document.title = `1 ${sold.symbol} = ${rate} ${bought.symbol} · ${title}`
    return () => {
      document.title = title
    }
  }, [isTold, rate])
  if (rate === undefined) return null
  const one = <TokenName chainId={chainId} address={inputToken} isShort />
  const other = <TokenName chainId={outputChainId} address={outputToken} isShort />
  return (
    <>
      <span class="rate-line">
        1 {one} = <span class="number">{rate}</span> {other}
      </span>
      <span class="rate-line muted">
        1 {other} = <span class="number">{back}</span> {one}
      </span>
    </>
  )
}
