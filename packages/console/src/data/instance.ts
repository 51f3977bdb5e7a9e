import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** What the instance writes into the page: who runs it, and its version. */
export const instance = {
  name: contentOf('application-name') ?? 'Quote aggregator',
  /** What the operator says above each page; undefined for nothing. */
  notice: contentOf('notice'),
  /** Whether the operator has a logo. It is at `logo`, below the prefix of a proxy too. */
  hasLogo: contentOf('logo') !== undefined,
  version: contentOf('version'),
}

/** What the title of the page begins with, such as a price; empty without one. */
export const titleDetail = signal('')

/** Shows a text in the title of the page while the component is shown. */
export function useTitleDetail(text: string): void {
  useEffect(() => {
    titleDetail.value = text
    return () => {
      titleDetail.value = ''
    }
  }, [text])
}

function contentOf(name: string): string | undefined {
  const content = document.querySelector(`meta[name="${name}"]`)?.getAttribute('content')
  return content === null || content === '' ? undefined : content
}
