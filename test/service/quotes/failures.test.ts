import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { signedRegistration } from '../../support/solvers/solver.js'

const [registered] = solverAccounts
const ENDPOINT = 'http://127.0.0.1:9'
const UNKNOWN_ORDER = `0x${'cd'.repeat(32)}`

const chain = await shared(startModelChain({ bonded: 1 }))

it('every method that needs the chain answers CHAIN_UNAVAILABLE while the RPC is down', async () => {
  const gone = await startModelChain({ chainId: 4242, bonded: 1 })
  const errors: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line).msg) })
  const other = await startService(gone, {}, { log })
  onTestFinished(() => other.close())
  await gone.stop()

  const read = await other.get(`/v1/4242/order/${UNKNOWN_ORDER}`)
  expect([read.status, read.body.code]).toEqual([503, 'CHAIN_UNAVAILABLE'])
  const refused = await other.post(
    '/v1/4242/solvers/register',
    await signedRegistration(registered, { endpointUrl: ENDPOINT }),
  )
  expect([refused.status, refused.body.code]).toEqual([503, 'CHAIN_UNAVAILABLE'])

  // The lines of the requests have the reason, and none is an error of its own. The chain is read at times of its own.
  await eventually(
    async () => errors.length,
    (count) => count > 0,
  )
  expect(errors).toEqual(['the chain does not answer'])
})

it('INTERNAL shows nothing of the cause, which the log has under the request id', async () => {
  const lines: string[] = []
  let isBroken = false
  const overrides = {
    log: pino({ level: 'error' }, { write: (line: string) => void lines.push(line) }),
    clock: {
      ...systemClock,
      now() {
        if (isBroken) throw new Error('a secret of the inside')
        return Date.now()
      },
    },
  }
  const broken = await startService(chain, {}, overrides)
  onTestFinished(() => broken.close())
  isBroken = true
  const { status, body, headers } = await broken.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
  expect([status, body.code]).toEqual([500, 'INTERNAL'])
  expect(JSON.stringify(body)).not.toContain('secret')
  const logged = lines
    .map((line) => JSON.parse(line))
    .find((line) => line.requestId === headers.get('x-request-id'))
  expect(logged.err.message).toBe('a secret of the inside')

  const health = await broken.get('/health')
  expect([health.status, health.body.code]).toEqual([500, 'INTERNAL'])
  expect(JSON.stringify(health.body)).not.toContain('secret')

  isBroken = false
  expect((await broken.get('/health')).status).toBe(200)
})
