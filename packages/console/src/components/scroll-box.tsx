import type { ComponentChildren } from 'preact'

/** A wide table scrolls in its own box, also by the keyboard, so that the page does not. */
export function ScrollBox({
  label,
  children,
}: {
  readonly label: string
  readonly children: ComponentChildren
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="table-box" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
