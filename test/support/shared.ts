import { afterAll } from 'vitest'
import { TEST_HANG_MS } from './hang.js'

type Open = { close(): unknown } | { stop(): unknown } | { leave(): unknown }

function end(opened: Open): unknown {
  if ('close' in opened) return opened.close()
  return 'stop' in opened ? opened.stop() : opened.leave()
}

/** What the tests of this file have open, in the order in which it was started. */
const open: Open[] = []

/**
 * Starts what all tests of a file, or of a `describe`, use. After them it is ended, before what was started earlier.
 * @param starting what a `start...` of these fixtures returns
 */
export async function shared<T extends Open>(starting: T | Promise<T>): Promise<T> {
  let hang: NodeJS.Timeout | undefined
  const hanging = new Promise<never>((_, reject) => {
    hang = setTimeout(() => reject(new Error('what the tests share does not start')), TEST_HANG_MS)
  })
  try {
    const opened = await Promise.race([starting, hanging])
    open.push(opened)
    afterAll(async () => {
      open.splice(open.indexOf(opened), 1)
      await end(opened)
    })
    return opened
  } catch (error) {
    // A file that fails before its tests runs no hooks.
    for (const opened of open.splice(0).reverse()) await end(opened)
    throw error
  } finally {
    clearTimeout(hang)
  }
}
