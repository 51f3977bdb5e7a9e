import { afterAll, vi } from 'vitest'

/** Stubs what the sources read of a page when they are loaded, until the tests of the file end. */
export function stubPage(): void {
  const stored = new Map<string, string>()
  vi.stubGlobal('document', Object.assign(new EventTarget(), { baseURI: 'http://127.0.0.1/', hidden: false }))
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('location', new URL('http://127.0.0.1/'))
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  })
  afterAll(() => void vi.unstubAllGlobals())
}
