import type { ComponentChildren, RenderableProps } from 'preact'
import { useCallback } from 'preact/hooks'
import { hrefHere } from '../data/chains.js'
import { connection } from '../data/events.js'
import type { Failure } from '../data/failure.js'
import { mayPass, type Query } from '../data/query.js'

interface FailureNoticeProps {
  readonly failure: Failure
  readonly retry?: (() => void) | undefined
}

/** Why something is missing, and what to do about it. */
export function FailureNotice({ failure, retry }: FailureNoticeProps) {
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

interface AnswerProps<T> {
  readonly query: Pick<Query<T>, 'data' | 'failure' | 'refresh'>
  /** Shows the answer. */
  readonly children: (data: T) => ComponentChildren
}

/** The answer of a call, a skeleton before it, and why the last call has failed. */
export function Answer<T>({ query: { data, failure, refresh }, children }: AnswerProps<T>) {
  // The bar above the page says that the connection is lost: what is shown stays where it is.
  const isTold = data !== undefined && connection.value.state === 'lost'
  return (
    <>
      {failure !== undefined && !isTold && (
        <FailureNotice failure={failure} retry={mayPass(failure) ? refresh : undefined} />
      )}
      {data !== undefined ? children(data) : failure === undefined && <Skeleton />}
    </>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
}

/** What stands in the place of a list that has nothing. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p class="muted">{children}</p>}
    </div>
  )
}

/** Words of a template of the document. They are put in once: what has the focus keeps it. */
export function FromTemplate({ id, children }: RenderableProps<{ readonly id: string }>) {
  const fill = (place: Element | null) =>
    place?.replaceChildren(
      document.querySelector<HTMLTemplateElement>(`#${id}`)?.content.cloneNode(true) ?? '',
    )
  return (
    <section class={id}>
      <div ref={useCallback(fill, [id])} />
      {children}
    </section>
  )
}

/** What stands in the place of solvers while nobody can swap. */
export const NoSolvers = () => <FromTemplate id="no-solvers" />

/** Lines of the size of what comes. */
export const Skeleton = () => <div class="skeleton" role="status" aria-label="Loading" />
