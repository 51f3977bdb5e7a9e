import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const MODULE = new URL('../../src/internals/heap-growth.ts', import.meta.url).href

/** Keeps 40 MB of objects alive, replaces others 4000 times, and prints the largest old space in MB. */
const CHURN = `
  import { getHeapSpaceStatistics } from 'node:v8'
  const objects = (count) => Array.from({ length: count }, (_, index) => ({ index, text: String(index) }))
  const kept = objects(400_000)
  const recent = []
  let most = 0
  for (let round = 0; round < 4000; round++) {
    recent[round % 20] = objects(2_000)
    const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
    most = Math.max(most, space_size)
  }
  process.stdout.write(JSON.stringify({ kept: kept.length, most: most / 1e6 }))
`

async function largestOldSpace(before: string): Promise<number> {
  const script = `${before}\n${CHURN}`
  const args = ['--max-semi-space-size=1', '--import', 'tsx', '--input-type=module', '--eval', script]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  expect(stderr).toBe('')
  return JSON.parse(stdout).most
}

test('the heap grows less between two full collections than it does by default', async () => {
  const usual = await largestOldSpace('')
  const bounded = await largestOldSpace(`import { boundHeapGrowth } from '${MODULE}'\nboundHeapGrowth()`)
  expect(bounded).toBeLessThan(0.75 * usual)
})
