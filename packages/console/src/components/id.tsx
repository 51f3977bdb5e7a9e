import { hrefHere } from '../data/chains.js'
import { solverName, solvers } from '../data/solvers.js'
import { shorten } from '../format/shorten.js'
import { Copy } from './copy.js'

/** An address, a hash or an id: shortened, whole on hover, copied by its button, with a link when it has a place here. */
export function Id({
  text,
  href,
  label,
}: {
  readonly text: string
  readonly href?: string
  readonly label: string
}) {
  return (
    <span class="id">
      {href === undefined ? (
        <code title={text}>{shorten(text)}</code>
      ) : (
        <a href={href} title={text}>
          <code>{shorten(text)}</code>
        </a>
      )}
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

/** A solver's name, a text from a stranger, always with the address. */
export function SolverLabel({
  address,
  name,
}: {
  readonly address: string
  readonly name?: string | undefined
}) {
  const shown = name || solverName(address)
  return (
    <span class="solver">
      {shown !== undefined && (
        <bdi class="solver-name" title={shown}>
          {shown}
        </bdi>
      )}
      <Id text={address} href={hrefHere('solver', address)} label="solver's address" />
    </span>
  )
}
