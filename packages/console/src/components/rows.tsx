import type { ComponentChildren } from 'preact'

interface RowsProps {
  readonly caption: string
  /** How the rows look, other than usual. */
  readonly kind?: 'ranking' | 'pairs'
  readonly head: ComponentChildren
  readonly children: ComponentChildren
}

/**
 * A table that scrolls in its own box, also by the keyboard, so that the page does not. Arrows move between rows that lead somewhere,
 * Enter opens. On a phone, each row is a card: its cells name their columns in `data-label`.
 */
export function Rows({ caption, kind, head, children }: RowsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="table-box cards" aria-label={caption} tabIndex={0}>
      <table class={kind} onKeyDown={moveBetweenRows}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

/** A row that leads to a place. Its first link has the place for pointers and screen readers. */
export function LinkRow({
  href,
  label,
  isFresh = false,
  isChosen = false,
  children,
}: {
  readonly href: string
  readonly label: string
  /** Whether it has changed while it was shown. */
  readonly isFresh?: boolean
  /** Whether the page shows its place. */
  readonly isChosen?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <tr
      class={isFresh ? 'fresh' : isChosen ? 'best' : ''}
      tabIndex={0}
      aria-label={label}
      data-href={href}
      onClick={(event) => {
        const target = event.target as HTMLElement
        if (target.closest('a, button') === null && getSelection()?.isCollapsed !== false)
          location.hash = href
      }}
    >
      {children}
    </tr>
  )
}

function moveBetweenRows(event: KeyboardEvent): void {
  const row = (event.target as HTMLElement).closest('tr')
  if (row === null || event.target !== row) return
  const other = event.key === 'ArrowDown' ? row.nextElementSibling : row.previousElementSibling
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault()
    if (other instanceof HTMLElement) other.focus()
  }
  if (event.key === 'Enter' && row.dataset.href !== undefined) location.hash = row.dataset.href
}
