import { decoded, shorten } from '../../../src/domain/values/text.js'

const MAX_CHARACTERS = 300
/** More of a node's text is not looked at. */
const MAX_READ = 10_000
/** What is shorter, such as `v2`, is no key. */
const MIN_KEY_CHARACTERS = 6
/** A URL, with what comes before its host and after it, which may have a key. */
const URL_PARTS = /\b((?:http|ws)s?:\/\/)(?:[^\s/@]*@)?([^\s/?#"']*)[^\s"']*/gi

/** Brings a text into one short line, without the parts of a node's URL that may be a key. */
export type Words = (text: unknown) => string

/** Builds it for one node, which may quote what it was asked. @param url of the node */
export function createWords(url: string): Words {
  const { pathname, search, username, password } = new URL(url)
  const credentials = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  const parts = [...`${pathname}${search}`.split(/[/?&=]/), username, password, credentials]
  const keys = parts
    .flatMap((part) => [part, decoded(part)])
    .filter(({ length }) => length >= MIN_KEY_CHARACTERS)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    const line = String(text).slice(0, MAX_READ).replace(/\s+/g, ' ').trim()
    const withoutKeys = keys.reduce(
      (shown, key) => shown.replaceAll(key, '…'),
      line.replace(URL_PARTS, '$1$2'),
    )
    return shorten(withoutKeys, MAX_CHARACTERS)
  }
}
