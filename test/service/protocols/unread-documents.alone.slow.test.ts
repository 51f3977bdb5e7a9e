import { once } from 'node:events'
import { connect } from 'node:http2'
import { expect, it, onTestFinished } from 'vitest'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService } from '../../support/service/service.js'

const STREAMS = 100

it.each(['/openapi.json', '/asyncapi.json'])(
  'clients that do not read %s hold no copies of it',
  async (path) => {
    const chain = await startModelChain({ bonded: 0 })
    onTestFinished(() => chain.stop())
    const service = await startService(chain)
    onTestFinished(() => service.close())
    const { byteLength } = Buffer.from(await (await fetch(`${service.url}${path}`)).arrayBuffer())
    const session = connect(service.url, { settings: { initialWindowSize: 0 } })
    onTestFinished(() => session.destroy())
    const before = process.memoryUsage().arrayBuffers
    const streams = Array.from({ length: STREAMS }, () => session.request({ ':path': path }).pause())
    await Promise.all(streams.map((stream) => once(stream, 'response')))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((STREAMS * byteLength) / 4)
  },
)
