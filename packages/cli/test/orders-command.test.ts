import { expect, it } from 'vitest'
import { commandLine, startCommandLine } from '../../../test/support/process/command-line.js'
import { ADDRESS, orderIdOf, sampleEvent, sampleOrder } from '../../client/test/samples.js'
import { sendJson, serve } from '../../client/test/server.js'

/** An instance whose pages have these orders each, the newest first; after them it refuses. @returns its URL, and what it was asked */
async function instance(...pages: readonly number[][]) {
  const asked: string[] = []
  const { url } = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://a')
    if (pathname !== '/v1/1/orders') return sendJson(response, 404, { error: 'No.', code: 'ROUTE_NOT_FOUND' })
    asked.push(`${searchParams}`)
    const page = Number(searchParams.get('pageToken') ?? 0)
    const numbers = pages[page]
    if (numbers === undefined) return sendJson(response, 429, { error: 'Too many.', code: 'RATE_LIMITED' })
    const orders = numbers.map((number) => ({ ...sampleOrder(number), solver: undefined }))
    sendJson(response, 200, { orders, nextPageToken: numbers.length > 1 ? String(page + 1) : '' })
  })
  return {
    asked,
    list: (...argv: string[]) => commandLine(['orders', '--chain', '1', ...argv, '--url', url]),
  }
}

/** The order ids of the lines of JSON, or of the rows of a table. */
const idsOf = (stdout: string) => stdout.match(/0x0{5}\w{59}/g)

it('orders are listed with time, state, amounts and transaction, or as one JSON line each', async () => {
  const { list } = await instance([2, 1], [0])
  const { code, stdout, stderr } = await list()
  expect([code, stderr]).toEqual([0, ''])
  const [title, first] = stdout.split('\n')
  expect(title).toMatch(/^time +state +sells +buys +order id +transaction$/)
  const parts = ['1970-01-01 00:30:00 UTC', 'SETTLED', `5 of ${ADDRESS}`, `7 of ${ADDRESS}`, orderIdOf(2)]
  expect(first?.split('  ')).toEqual([...parts, `0x${'cd'.repeat(32)}`])
  const lines = (await list('--json')).stdout.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(
    [2, 1, 0].map((number) => ({
      orderId: orderIdOf(number),
      inputAmount: '5',
      settled: { blockNumber: 9 },
    })),
  )
})

it('orders asks with its filters, and says whether there are more than --limit', async () => {
  const { asked, list } = await instance([3, 2], [1])
  const filters = ['--user', ADDRESS, '--solver', ADDRESS, '--state', 'refunded']
  const { code, stdout, stderr } = await list(...filters, '--limit', '2')
  expect([code, idsOf(stdout)]).toEqual([0, [orderIdOf(3), orderIdOf(2)]])
  expect(stderr).toBe('There are more orders: list more with --limit, up to 10000.\n')
  const query = `user=${ADDRESS}&solver=${ADDRESS}&state=REFUNDED&pageSize=3`
  expect(asked).toEqual([query, `${query}&pageToken=1`])
  expect((await list('--limit', '3')).stderr).toBe('')
})

it('orders says that none matches, and nothing with --json', async () => {
  const { list } = await instance([])
  expect(await list()).toEqual({ code: 0, stdout: 'No order matches.\n', stderr: '' })
  expect(await list('--json')).toEqual({ code: 0, stdout: '', stderr: '' })
})

it('orders prints the orders of the pages before one that fails', async () => {
  const { list } = await instance([3, 2])
  const { code, stdout, stderr } = await list()
  expect([code, idsOf(stdout)]).toEqual([3, [orderIdOf(3), orderIdOf(2)]])
  expect(stderr).toContain('(RATE_LIMITED)')
})

it('watch begins after the cursor, asks with its filters, and says with which one to go on', async () => {
  const asked: string[] = []
  const { url } = await serve((request, response) => {
    asked.push(request.url ?? '')
    const opening = { type: 'connected', supportedChains: [1], cursor: 'a.1' }
    const event = sampleEvent('Settled', { cursor: 'a.2' })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const message of [opening, event]) response.write(`data: ${JSON.stringify(message)}\n\n`)
  })
  const filters = ['--after', 'earliest', '--type', 'settled', '--user', ADDRESS, '--order', orderIdOf(1)]
  const watching = startCommandLine(['watch', ...filters, '--url', url])
  await expect.poll(() => watching.written.stdout).toContain(`transaction 0x${'cd'.repeat(32)}\n`)
  watching.interrupt()
  const { code, stderr } = await watching.ended
  expect([code, stderr]).toEqual([0, expect.stringMatching(/continue with --after a\.2\n$/)])
  const query = `type=Settled&user=${ADDRESS}&after=earliest&orderId=${orderIdOf(1)}`
  expect(asked).toEqual([`/v1/events?${query}`])
})
