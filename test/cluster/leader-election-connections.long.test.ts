import { describe, expect, test } from 'vitest'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { eventually } from '../support/eventually.js'
import { itSlow } from '../support/rounds.js'
import { join, type TestReplica } from './replica-samples.js'

/** Longest time without a leader. */
const NO_LEADER_MS = 2000

async function joinThree() {
  const url = await createPostgresDatabase()
  const three = await Promise.all([join(url), join(url), join(url)])
  return { url, three }
}

/** Waits until exactly one replica has a leadership. */
async function holderOf(leadership: string, cluster: readonly TestReplica[]): Promise<TestReplica> {
  const [holder] = await eventually(
    async () => cluster.filter(({ leaderOf }) => leaderOf.has(leadership)),
    (holders) => holders.length === 1,
  )
  return holder as TestReplica
}

describe('a leadership', () => {
  test('goes to the first replica that tries to acquire it', async () => {
    const [a, b, c] = (await joinThree()).three
    await a.lead('chain 1')
    await b.lead('chain 2')
    await Promise.all([c.lead('chain 1'), c.lead('chain 2'), b.lead('chain 1')])
    await c.lead('chain 3')
    expect([a, b, c].map(({ notes }) => notes)).toEqual([
      ['acquired chain 1'],
      ['acquired chain 2'],
      ['acquired chain 3'],
    ])
  })

  itSlow('goes to another replica when its holder leaves, and not before', async () => {
    const { three } = await joinThree()
    for (const { lead } of three) await lead('chain 1')
    const [first, ...others] = three
    await others[0]?.close()
    expect(first.leaderOf.size).toBe(1)

    const start = performance.now()
    await first.close()
    await holderOf('chain 1', others)
    expect(performance.now() - start).toBeLessThan(NO_LEADER_MS)
    expect(three.map(({ notes }) => notes)).toEqual([['acquired chain 1'], [], ['acquired chain 1']])
  })
})
