import { expect, test } from 'vitest'
import { createLogLineWriter } from '../../src/internals/log-line-writer.js'
import { createLog } from '../../src/telemetry/log.js'

function createTextLog() {
  const texts: string[] = []
  return { texts, log: createLog('info', { write: (text) => void texts.push(text) }) }
}

test('the line writer writes the same line as pino does', () => {
  const { texts, log } = createTextLog()
  const fields = { path: '/a"b\\c', client: '\x1b[2J\u202e', durationMs: 1.5, winner: undefined }
  for (const logger of [log, log.child({ chainId: 1 })]) {
    createLogLineWriter(logger, 'info', 'request')(fields)
    logger.info(fields, 'request')
    const [written, usual] = texts.splice(0).map((text) => text.replace(/"time":"[^"]+"/, '"time"'))
    expect(written).toBe(usual)
    expect(written).toContain('"time"')
  }
})

test('the line writer writes nothing below the level of the log', () => {
  const { texts, log } = createTextLog()
  createLogLineWriter(log, 'debug', 'request')({ status: 200 })
  expect(texts).toEqual([])
})
