import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { BUILT } from '../../support/process/built.js'
import { startProcess } from '../../support/process/process.js'
import { environmentFor } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'

const chain = await shared(startModelChain({ bonded: 0 }))

describe('the process of the service', () => {
  it('logs that it can open no more files', async () => {
    const service = startProcess(
      'sh',
      ['-c', `ulimit -n 200; exec ${process.execPath} ${BUILT}/main.js`],
      environmentFor(chain),
    )
    const output = async () => service.output()
    const [, port] =
      /"url":"http:\/\/[^"]*:([0-9]+)"/.exec(
        await eventually(output, (text) => text.includes('"msg":"listening"')),
      ) ?? []
    // Each one that the service closes comes again: a file of its own that it closes meanwhile is taken at once.
    const ending = new AbortController()
    onTestFinished(() => ending.abort())
    const hold = (): void => {
      if (ending.signal.aborted) return
      const socket = connect({ port: Number(port), host: '127.0.0.1', signal: ending.signal })
      socket.on('error', () => {}).on('close', () => setTimeout(hold, 20))
    }
    for (let client = 0; client < 300; client++) hold()
    await eventually(output, (text) => text.includes('"code":"EMFILE"'))
    service.signal('SIGTERM')
    await service.exited
  })

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
