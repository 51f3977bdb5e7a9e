/** What the instance writes into the page: who runs it, and its version. */
export const instance = {
  name: contentOf('application-name') ?? 'Quote aggregator',
  /** What the operator says above each page; undefined for nothing. */
  notice: contentOf('notice'),
  /** Whether the operator has a logo. It is at `logo`, below the prefix of a proxy too. */
  hasLogo: contentOf('logo') !== undefined,
  version: contentOf('version'),
}

function contentOf(name: string): string | undefined {
  const content = document.querySelector(`meta[name="${name}"]`)?.getAttribute('content')
  return content === null || content === '' ? undefined : content
}
