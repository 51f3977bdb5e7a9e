import { chain } from '../data/chains.js'
import { instance } from '../data/instance.js'
import { Explorer, Id } from './id.js'

/** Who runs what: name, version, reference of the API, and the contract of the chain of the page. */
export function Footer() {
  const shown = chain.value
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
            Settlement contract on {shown.name}{' '}
            <Id text={shown.settlement} label="address of the settlement contract" />
            <Explorer chainId={shown.chainId} kind="address" id={shown.settlement} />
          </span>
        )}
      </div>
    </footer>
  )
}
