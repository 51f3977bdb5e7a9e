import type { ComponentChildren } from 'preact'

/** A fact in a row of facts: its name above, its value below. */
export function Fact({
  name,
  children,
}: {
  readonly name: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
