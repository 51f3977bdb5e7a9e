import { describe, expect, it } from 'vitest'
import { openSqliteFile } from '../../../packages/sqlite/src/sqlite.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { deferred } from '../../support/deferred.js'
import { eventually } from '../../support/eventually.js'
import { useWatchedChain } from '../../support/faults/watched-chain.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'

const on = useWatchedChain({ seed: 71, pollIntervalMs: 10 })

const health = async () => (await on.service.get('/health')).body
const untilStatus = (wanted: string) => eventually(on.chainHealth, ({ status }) => status === wanted)
const errors = () => on.lines.filter(({ level }) => level >= 50)

/** Resolves when the node has not been called for this long. */
async function untilPause(ms: number): Promise<void> {
  let [count, since] = [-1, 0]
  await eventually(
    async () => {
      if (on.rpc.requests().length !== count) [count, since] = [on.rpc.requests().length, performance.now()]
      return performance.now() - since
    },
    (pauseMs) => pauseMs >= ms,
  )
}

describe('a failure to write events', () => {
  it('is logged, shows in /health, and ends when the database takes the events', async () => {
    const path = temporaryFile()
    await on.start({ DB_PATH: path })
    await on.traffic.mine()
    await on.untilRead()
    const { number } = await on.traffic.head()
    const other = openSqliteFile(path)
    other.exec(`create trigger refusal before insert on events begin select raise(abort, 'no room'); end`)
    await on.traffic.run({ events: 3, blocks: 2 })
    const { status } = await eventually(health, ({ chains }) => chains[0].status === 'down')
    expect(status).toBe('degraded')
    expect(errors()).toEqual([
      expect.objectContaining({
        msg: 'events cannot be written',
        reason: expect.stringContaining('no room'),
      }),
    ])
    expect(await on.service.metric('aggregator_rpc_errors_total', {})).toBe(0)
    // The chain advances in the meantime, which changes nothing.
    await on.traffic.run({ events: 3, blocks: 2 })
    await untilPause(300)
    expect((await on.chainHealth()).status).toBe('down')
    expect(errors()).toHaveLength(1)

    other.exec('drop trigger refusal')
    other.close()
    await untilStatus('ok')
    await on.events.untilCount(6)
    expect(standing(on.events.events())).toEqual(await expectedMessages(on.chain, number + 1))
    expect(on.events.events()).toHaveLength(6)
  })
})

describe('an impossible head of a chain', () => {
  it('leaves /health and the metrics with the next correct answer', async () => {
    await on.start()
    await on.traffic.run({ events: 2, blocks: 2 })
    await on.untilRead()
    const answered = deferred()
    let isSubscribed = false
    on.rpc.intercept(async ({ method, params = [] }, pass) => {
      const reply = await pass()
      if (isSubscribed || method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return reply
      isSubscribed = true
      answered.open()
      return { result: { ...(reply.result as object), number: `0x${(10 ** 9).toString(16)}` } }
    })
    await answered.opened
    await on.traffic.run({ events: 2, blocks: 2 })
    await on.untilRead()
    const { number } = await on.traffic.head()
    expect(await on.chainHealth()).toMatchObject({ status: 'ok', headBlock: number })
    expect(await on.service.metric('aggregator_chain_head_block', {})).toBe(number)
  })
})

describe('a chain that is now shorter than the stored blocks', () => {
  it('is down with a log line that says what to do, and is read again after it has grown', async () => {
    const { number } = await on.traffic.head()
    await on.start({ MAX_REORG_DEPTH: '2' })
    await on.traffic.mine()
    const back = await on.traffic.snapshot()
    await on.traffic.run({ events: 8, blocks: 8 })
    await on.untilRead()
    await back()
    await on.traffic.run({ events: 2, blocks: 1 })
    expect((await eventually(health, ({ chains }) => chains[0].status === 'down')).status).toBe('degraded')
    expect(errors()).toHaveLength(1)
    expect(errors()[0]?.msg).toMatch(/lower than .*stored.*reset.*RPC_URL_/s)

    await on.traffic.run({ events: 12, blocks: 12 })
    await untilStatus('ok')
    await on.untilRead()
    const expected = await expectedMessages(on.chain, number + 1)
    await eventually(
      async () => standing(on.events.events()),
      (events) => events.length >= expected.length,
    )
    expect(standing(on.events.events())).toEqual(expected)
  })
})
