import type { ComponentChildren } from 'preact'

interface ScrollBoxProps {
  readonly label: string
  readonly children: ComponentChildren
}

/** A wide table scrolls in its own box, also by the keyboard, so that the page does not. On a phone, each row is a card: its cells name their columns in `data-label`. */
export function ScrollBox({ label, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="table-box cards" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
