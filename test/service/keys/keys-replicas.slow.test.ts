import { expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { openReplicas } from '../../support/replicas/replicas.js'
import type { TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { transports } from '../../support/streams/transports.js'
import { runKeys } from './keyed-service.js'

const UNKNOWN_ORDER = `0x${'ab'.repeat(32)}`

const chain = await shared(startModelChain({ bonded: 0 }))

async function start(environment: Record<string, string> = {}) {
  const { databaseUrl, ...replicas } = await openReplicas(chain)
  const services = [await replicas.start(environment), await replicas.start(environment)] as const
  const keys = (...argv: string[]) => runKeys({ DATABASE_URL: databaseUrl }, ...argv)
  return { services, keys }
}

const getOrder = (service: TestService, key: string) =>
  service.send('GET', `/v1/${chain.chainId}/order/${UNKNOWN_ORDER}`, undefined, {
    headers: { 'x-api-key': key },
  })

/** Waits until all replicas answer a request with the key like this. @returns the milliseconds */
async function untilStatus(services: readonly TestService[], key: string, status: number): Promise<number> {
  const startedAt = performance.now()
  for (const service of services)
    await eventually(
      () => getOrder(service, key),
      (answer) => answer.status === status,
    )
  return performance.now() - startedAt
}

it('a new key and a revoked one take effect within 5 s at all replicas, and the streams of the latter end within 30 s', async () => {
  const { services, keys } = await start()
  const { id, key } = await keys('add', '--label', 'acme')
  expect(await untilStatus(services, key, 200)).toEqual(between(0, 5000))
  const open = (service: TestService) =>
    transports.map((transport) => transport.open(service.url, {}, { headers: { 'x-api-key': key } }))
  const streams = services.flatMap(open)
  await Promise.all(streams.map((stream) => stream.connected()))

  const revokedAt = performance.now()
  await keys('revoke', id)
  expect(await untilStatus(services, key, 401)).toEqual(between(0, 5000))
  await Promise.all(streams.map((stream) => stream.ended()))
  expect(performance.now() - revokedAt).toEqual(between(0, 30_000))
})
