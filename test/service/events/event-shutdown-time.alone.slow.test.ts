import { expect, it } from 'vitest'
import { startChain } from '../../support/chain/chain.js'
import { startEventService } from '../../support/service/event-service.js'
import { openAll } from '../../support/streams/transports.js'

/** Far below the ten seconds that open requests get to finish. */
const PROMPT_MS = 6000

it('the shutdown of the service waits for no client of events', async () => {
  const chain = await startChain({ bonded: 0 })
  const service = await startEventService([chain])
  const clients = await openAll(service.url)
  const start = performance.now()
  await service.close()
  expect(performance.now() - start).toBeLessThan(PROMPT_MS)
  for (const client of clients) await client.ended()
  await chain.stop()
})
