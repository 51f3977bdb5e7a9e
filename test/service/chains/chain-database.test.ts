import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { passChainTime } from '../../support/chain/pass-time.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { expectedMessages, standing } from '../../support/streams/event-messages.js'
import { watchEvents } from '../../support/streams/watch-events.js'

const DAY_MS = 86_400_000

let service: TestService

const chain = await shared(startModelChain({ bonded: 1 }))
const traffic = await createTraffic(chain, { seed: 51 })

afterEach(() => service?.close())

const start = (path: string, now = Date.now, environment: Record<string, string> = {}) =>
  startService(
    chain,
    { DB_PATH: path, [`POLL_INTERVAL_MS_${chain.chainId}`]: '50', ...environment },
    { clock: { ...systemClock, now } },
  )

describe('EVENT_RETENTION_DAYS', () => {
  it('removes old events at a restart, with their cursors, and keeps the others', async () => {
    const path = temporaryFile()
    const environment = { EVENT_RETENTION_DAYS: '3' }
    service = await start(path, Date.now, environment)
    const old = await watchEvents(service)
    const beginning = old.cursor()
    await traffic.run({ events: 5, blocks: 2 })
    await old.untilCount(5)
    const cursors = old.events().map(({ cursor }) => cursor)
    await service.close()
    await passChainTime(chain, 4 * DAY_MS)

    service = await start(path, () => Date.now() + 4 * DAY_MS, environment)
    const young = await watchEvents(service, `?after=${beginning}`)
    await young.untilCount(5)
    const { fromBlock } = await traffic.run({ events: 4, blocks: 2 })
    await young.untilCount(9)
    await service.close()

    service = await start(path, () => Date.now() + 4 * DAY_MS, environment)
    for (const cursor of [beginning, ...cursors.slice(0, -1)]) {
      const refused = await watchEvents(service, `?after=${cursor}`)
      expect(await refused.closed()).toBe(1008)
    }
    const kept = await watchEvents(service, `?after=${cursors.at(-1)}`)
    await kept.untilCount(4)
    expect(kept.events()).toEqual(young.events().slice(5))
    await traffic.run({ events: 2, blocks: 1 })
    await kept.untilCount(6)
    expect(standing(kept.events())).toEqual(await expectedMessages(chain, fromBlock))
    kept.close()
  })
})
