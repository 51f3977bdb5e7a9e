import { chain } from '../data/chains.js'
import { instance } from '../data/instance.js'
import { formatAmount } from '../format/amount.js'
import { formatDuration } from '../format/time.js'
import { Explorer, Id } from './id.js'

/** Who runs what: name, version, reference of the API, and the limits of the instance for the chain of the page. */
export function Footer() {
  const shown = chain.value
  const { decimals, symbol = 'units' } = shown?.bondToken ?? {}
  return (
    <footer class="footer">
      <div class="footer-inner">
        <span>
          <bdi>{instance.name}</bdi>
          {instance.version !== undefined && ` · version ${instance.version}`} ·{' '}
          <a href="help">How it works</a> · <a href="docs">API reference</a>
        </span>
        {shown !== undefined && (
          <span>
            A quote asks at most {shown.maxQuoteFanOut} solvers for at most{' '}
            {formatDuration(shown.quoteTimeoutMs)}. A solver holds a bond of at least{' '}
            {formatAmount(BigInt(shown.minimumBond || 0), decimals)} <bdi>{symbol}</bdi>. Settlement contract{' '}
            <Id text={shown.settlement} label="address of the settlement contract" />
            <Explorer chainId={shown.chainId} kind="address" id={shown.settlement} />
          </span>
        )}
      </div>
    </footer>
  )
}
