import type { ComponentChildren } from 'preact'
import { ScrollBox } from './scroll-box.js'

interface RowsProps {
  readonly caption: string
  readonly head: ComponentChildren
  readonly children: ComponentChildren
}

/** A table that scrolls inside its own box. Arrows move between rows that lead somewhere, Enter opens. */
export function Rows({ caption, head, children }: RowsProps) {
  return (
    <ScrollBox label={caption}>
      <table onKeyDown={moveBetweenRows}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </ScrollBox>
  )
}

/** A row that leads to a place. Its first link has the place for pointers and screen readers. */
export function LinkRow({
  href,
  label,
  isFresh = false,
  children,
}: {
  readonly href: string
  readonly label: string
  /** Whether it has changed while it was shown. */
  readonly isFresh?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <tr
      class={isFresh ? 'fresh' : ''}
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
