import type { ComponentChildren } from 'preact'

interface FactProps {
  readonly name: ComponentChildren
  readonly children: ComponentChildren
}

/** A fact in a row of facts: its name above, its value below. */
export function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
