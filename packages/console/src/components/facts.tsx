import type { ComponentChildren } from 'preact'

/** A fact in a row of facts: its name above or beside its value. */
export const Fact = ({ name, children }: Readonly<Record<'name' | 'children', ComponentChildren>>) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
