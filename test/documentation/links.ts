/** A link of a document or another file. */
export interface Link {
  /** As written, relative to the file. Empty for the document itself. */
  readonly path: string
  /** The part after `#`, or empty. */
  readonly anchor: string
}

/** Whether a link leads out of the repository. */
const EXTERNAL = /^(?:[a-z][a-z+.-]*:|\/\/)/i

/** The links of a Markdown document to files of the repository, pictures included. */
export function linksOf(markdown: string): Link[] {
  const targets = [...withoutCode(markdown).matchAll(/\]\(([^()\s]+)\)|\bsrc="([^"]+)"|\bsrcset="([^"]+)"/g)]
  return targets
    .map(([, link, src, srcset]) => link ?? src ?? srcset ?? '')
    .filter((target) => !EXTERNAL.test(target))
    .map(toLink)
}

/**
 * The documents that a text of another kind names, such as a comment of a unit file, relative to the root.
 */
export function mentionsIn(text: string): Link[] {
  return [...text.matchAll(/(?<![\w/.-])((?:[\w-]+\/)*[\w-]+\.md(?:#[\w-]+)?)/g)].map(([, target = '']) =>
    toLink(target),
  )
}

/** The anchors that GitHub gives a document's headings, and those of `<a id>`. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const text = withoutCode(markdown)
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id))
  const seen = new Map<string, number>()
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = toSlug(heading)
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

function toLink(target: string): Link {
  const [path = '', anchor = ''] = target.split('#')
  return { path, anchor }
}

function toSlug(heading: string): string {
  return heading
    .replace(/<[^>]*>/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replace(/ /g, '-')
}

/** Fenced blocks have no headings and no links. */
function withoutCode(markdown: string): string {
  return markdown.replace(/^```.*?^```$/gms, '')
}
