import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startProcess } from '../../support/process/process.js'
import { type Exchange, isOfService, readExchanges } from './exchange.js'

/** A server that answers as the service does, and requests to it, in one process. */
const PROGRAM = `
import { createServer } from 'node:http'
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  response.setHeader('x-request-id', '0123456789abcdef-1')
  response.writeHead(201, { 'content-type': 'text/plain' })
  response.write('got ')
  response.end(Buffer.from(body))
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = 'http://127.0.0.1:' + server.address().port
const send = async (path) => console.log(await (await fetch(url + path, { method: 'POST', body: 'ü' })).text())
await send('/v1/a?b=c')
await send('/v1/a?b=c')
await send('/aggregator.v1.QuoteService/GetQuote')
server.close()
`

test('a process records its exchanges without a change of them, and equal ones and RPCs are not read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'exchanges-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const args = [
    '--import',
    './test/conformance/prism/record-exchanges.mjs',
    '--input-type=module',
    '--eval',
    PROGRAM,
  ]
  const program = startProcess(process.execPath, args, { RECORD_EXCHANGES: folder })
  expect(await program.exited).toBe(0)
  expect(program.output()).toBe('got ü\ngot ü\ngot ü\n')

  const [file = ''] = readdirSync(folder)
  expect(readFileSync(join(folder, file), 'utf8').trim().split('\n')).toHaveLength(3)
  const exchanges = readExchanges(folder)
  expect(exchanges).toMatchObject([{ method: 'POST', url: '/v1/a?b=c', status: 201 }])
  const [{ requestBody, requestHeaders, responseBody, responseHeaders }] = exchanges as [Exchange]
  const decode = (body: string) => Buffer.from(body, 'base64').toString()
  expect([requestBody, responseBody].map(decode)).toEqual(['ü', 'got ü'])
  expect(requestHeaders).toContain('content-length')
  expect(responseHeaders.slice(0, 4)).toEqual([
    'x-request-id',
    '0123456789abcdef-1',
    'content-type',
    'text/plain',
  ])
})

test('a server that does not number requests as the service does is another one', () => {
  const of = (...responseHeaders: string[]) => isOfService({ responseHeaders } as unknown as Exchange)
  expect([of('x-request-id', '0123456789abcdef-1'), of('x-request-id', 'abc'), of('etag', 'a')]).toEqual([
    true,
    false,
    false,
  ])
})
