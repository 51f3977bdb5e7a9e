import type { ComponentChildren } from 'preact'

interface ScrollBoxProps {
  readonly label: string
  /** Shows each row as a card on a phone. Its cells name their columns in `data-label`. */
  readonly isCards?: boolean
  readonly children: ComponentChildren
}

/** A wide table scrolls in its own box, also by the keyboard, so that the page does not. */
export function ScrollBox({ label, isCards = false, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class={isCards ? 'table-box cards' : 'table-box'} aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
