import type { ComponentChildren } from 'preact'
import { hrefHere } from '../data/chains.js'
import type { Failure } from '../data/failure.js'

/** Why something is missing, and what to do about it. */
export function FailureNotice({
  failure,
  retry,
}: {
  readonly failure: Failure
  readonly retry?: () => void
}) {
  return (
    <div class="notice notice-bad" role="alert">
      <p>{failure.message}</p>
      {failure.advice !== '' && <p class="muted">{failure.advice}</p>}
      <p class="notice-actions">
        {failure.quoteId !== undefined && (
          <a href={hrefHere('quote', failure.quoteId)}>Record of the quote</a>
        )}
        {retry !== undefined && (
          <button type="button" onClick={retry}>
            Try now
          </button>
        )}
      </p>
    </div>
  )
}

/** What stands in the place of a list that has nothing. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p class="muted">{children}</p>}
    </div>
  )
}

/** Lines of the size of what comes. */
export function Skeleton({ lines }: { readonly lines: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  )
}
