import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAggregatorClient, type OrderEvent } from '@quote-aggregator/client'
import { afterAll, expect, test } from 'vitest'
import { SECRET, startReceiver } from '../../../packages/cli/test/forward/receiver.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { eventually } from '../../support/eventually.js'
import { freePort } from '../../support/free-port.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { BUILT } from '../../support/process/built.js'
import { startProcess, startServiceProcess } from '../../support/process/process.js'
import { createRandom } from '../../support/random.js'
import { environmentFor } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

const SEED = Number(process.env.FORWARD_SEED ?? 1)
const EVENTS = 1_000
const TIMEOUT_MS = 600_000

const random = createRandom(SEED)
let ends: (() => unknown)[] = []

const chain = await shared(startModelChain())
const traffic = await createTraffic(chain, { seed: SEED })
const folder = mkdtempSync(join(tmpdir(), 'forward-'))
writeFileSync(join(folder, 'secret'), SECRET, { mode: 0o600 })
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const environment = {
  ...environmentFor(chain),
  PORT: String(port),
  DB_PATH: join(folder, 'events.db'),
  MAX_REORG_DEPTH: '16',
  RATE_LIMIT_MAX: '100000',
  [`CONFIRMATIONS_${chain.chainId}`]: '0',
  RATE_LIMIT_STREAMS: '100000',
  [`START_BLOCK_${chain.chainId}`]: String((await traffic.head()).number + 1),
  [`POLL_INTERVAL_MS_${chain.chainId}`]: '20',
}

afterAll(async () => {
  for (const end of ends) await end()
  rmSync(folder, { recursive: true, force: true })
})

/** A part that is killed, and started again. */
function mortal<T>(start: () => Promise<T> | T, end: (part: T) => Promise<unknown>) {
  let part: T | undefined
  const kill = async () => {
    if (part !== undefined) await end(part)
    part = undefined
  }
  ends = [kill, ...ends]
  return {
    kill,
    async start() {
      part = await start()
      return part
    },
  }
}

type Process = ReturnType<typeof startProcess>
async function killed(process: Process): Promise<void> {
  process.signal('SIGKILL')
  await process.exited
}

/** The log up to an event, as the service has it. */
async function readLog(
  isLast: (event: OrderEvent) => boolean,
): Promise<{ cursors: string[]; types: string[] }> {
  const client = createAggregatorClient({ baseUrl: url })
  const events = []
  for await (const event of client.streamEvents({ after: 'earliest' })) {
    events.push(event)
    if (isLast(event)) break
  }
  return { cursors: events.map(({ cursor }) => cursor), types: events.map(({ type }) => type) }
}

test(
  `of ${EVENTS} events none is lost, out of order or without its signature, whatever is killed (seed ${SEED})`,
  async () => {
    const ids: string[] = []
    const refused: unknown[] = []
    const port = await freePort()
    const receiver = mortal(
      async () => {
        const part = await startReceiver(
          SECRET,
          ({ id }, response) => {
            ids.push(id)
            // Now and then what was taken looks as if it was not.
            response.writeHead(random.integer(1, 100) === 1 ? 500 : 204).end()
          },
          port,
        )
        return { close: part.close, refused: part.refused }
      },
      async (part) => {
        refused.push(...part.refused)
        await part.close()
      },
    )
    const service = mortal(() => startServiceProcess(environment), killed)
    const state = join(folder, 'state')
    const argv = ['forward', '--url', url, '--to', `http://127.0.0.1:${port}/events`, '--from', 'beginning']
    const files = ['--secret-file', join(folder, 'secret'), '--state', state]
    const forward = mortal(
      () => startProcess(process.execPath, [`${BUILT}/cli.js`, ...argv, ...files], {}),
      killed,
    )
    const parts = [receiver, service, forward]
    for (const part of parts) await part.start()

    const client = createAggregatorClient({ baseUrl: url })
    let mined = 0
    while (mined < EVENTS) {
      await traffic.run({ events: 20, blocks: 5 })
      mined += 20
      if (random.integer(1, 4) === 1) {
        // What the service has not told yet is not taken back.
        const { number } = await traffic.head()
        const readChains = () => client.listChains().catch(() => [])
        await eventually(readChains, ([served]) => (served?.headBlock ?? 0) >= number)
        await traffic.reorganiseAtRandom({ depth: 3, events: 6, longerBy: 1 })
        mined += 6
      }
      const [part] = parts.splice(random.integer(0, 2), 1)
      if (part === undefined) continue
      await part.kill()
      await traffic.run({ events: 4, blocks: 1 })
      await part.start()
      parts.push(part)
    }
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])

    const readNewest = () => client.listOrders(chain.chainId, { pageSize: 1 }).catch(() => undefined)
    await eventually(readNewest, (page) => page?.orders[0]?.orderId === order.orderId)
    const last = (await readLog(({ orderId }) => orderId === order.orderId)).cursors.at(-1)
    await eventually(
      async () => existsSync(state) && readFileSync(state, 'utf8'),
      (cursor) => cursor === last,
    )
    const distinct = [...new Set(ids)]
    const log = await readLog(({ cursor }) => cursor === last)
    expect(distinct).toEqual(log.cursors.map((cursor) => cursor.replaceAll('.', '~')))
    expect(distinct.length).toBeGreaterThanOrEqual(EVENTS)
    expect(log.types.filter((type) => type === 'Reverted').length).toBeGreaterThan(10)
    // Repeats are those whose delivery was not known.
    expect(ids.length).toBeGreaterThan(distinct.length)
    await receiver.kill()
    expect(refused).toEqual([])
  },
  TIMEOUT_MS,
)
