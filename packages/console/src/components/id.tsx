import { chain, explorerHref, hrefHere } from '../data/chains.js'
import { needsAddress, solverName, solvers } from '../data/solvers/solvers.js'
import { shorten } from '../format/shorten.js'
import { Copy } from './copy.js'

interface IdProps {
  readonly text: string
  readonly href?: string
  readonly label: string
}

/** An address, a hash or an id: shortened, whole on hover, copied by its button, with a link when it has a place here. */
export function Id({ text, href, label }: IdProps) {
  return (
    <span class="id">
      <a href={href} title={text}>
        <code>{shorten(text)}</code>
      </a>
      <Copy text={text} label={label} />
    </span>
  )
}

/** An order, with the link to its page. */
export const OrderId = ({ id }: { readonly id: string }) => (
  <Id text={id} href={hrefHere('order', id)} label="order id" />
)

/** An account: a solver leads to its page, others to their orders. */
export function Account({ address }: { readonly address: string }) {
  const isSolver = solvers.value.has(address.toLowerCase())
  const href = isSolver ? hrefHere('solver', address) : hrefHere('orders', '', { user: address })
  return <Id text={address} href={href} label="address" />
}

/** A transaction, with the link to the explorer of its chain. */
export function Transaction({ chainId, hash }: { readonly chainId: number | bigint; readonly hash: string }) {
  return (
    <>
      <Id text={hash} label="transaction" />
      <Explorer chainId={chainId} kind="tx" id={hash} />
    </>
  )
}

interface ExplorerProps {
  readonly chainId: number | bigint
  readonly kind: 'tx' | 'address'
  readonly id: string
}

/** Leads to the explorer of a chain, when the instance knows one. */
export function Explorer({ chainId, kind, id }: ExplorerProps) {
  const href = explorerHref(chainId, kind, id)
  if (href === undefined) return null
  return (
    <a class="explorer" href={href} target="_blank" rel="noopener noreferrer">
      explorer<span aria-hidden="true"> ↗</span>
    </a>
  )
}

interface SolverLabelProps {
  readonly address: string
  readonly name?: string | undefined
  /** Shows the address also beside a name that no other solver has. */
  readonly hasAddress?: boolean
}

/** A solver by its name, a text from a stranger. The address stands beside names that look alike, and in place of none. */
export function SolverLabel({ address, name, hasAddress = false }: SolverLabelProps) {
  const shown = name || solverName(address)
  const href = hrefHere('solver', address)
  const id = <Id text={address} href={href} label="solver's address" />
  if (shown === undefined) return id
  return (
    <span class="solver">
      <a class="solver-name" href={href} title={`${shown} ${address}`}>
        <bdi>{shown}</bdi>
      </a>
      {(hasAddress || needsAddress(address, shown)) && id}
      {hasAddress && <Explorer chainId={chain.value?.chainId ?? 0} kind="address" id={address} />}
    </span>
  )
}
