import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { BUILT } from '../../support/process/built.js'
import { startProcess, startServiceProcess } from '../../support/process/process.js'
import { environmentFor } from '../../support/service/service.js'

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

describe('the process of the service', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'logs the beginning and the end of its shutdown after %s',
    async (signal) => {
      const service = startServiceProcess(environmentFor(chain))
      await eventually(
        async () => service.output(),
        (output) => output.includes('"msg":"listening"'),
      )
      service.child.kill(signal)
      expect(await service.exited).toBe(0)
      const messages = [...service.output().matchAll(/"msg":"(.*?)"/g)].map(([, message]) => message)
      expect(messages.slice(-2)).toEqual([`stopping: ${signal}`, 'stopped'])
    },
  )

  it('rejects arguments, because it accepts none', async () => {
    const service = startProcess(
      process.execPath,
      [`${BUILT}/main.js`, '--port', '8080'],
      environmentFor(chain),
    )
    expect(await service.exited).toBe(2)
    expect(service.errors()).toBe(
      "error: unknown argument '--port'. The service reads variables, see docs/configuration.md.\n",
    )
  })
})
