import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../test/support/free-port.js'
import { createMetrics, startMonitoring } from '../src/monitoring.js'

/** Serves the metrics of a solver that has these problems. */
async function monitor(metrics = createMetrics(), problems: string[] = []) {
  const port = await freePort()
  const close = await startMonitoring(
    port,
    '127.0.0.1',
    () => metrics,
    () => problems,
  )
  onTestFinished(close)
  return { port, get: (path: string) => fetch(`http://127.0.0.1:${port}${path}`) }
}

it('the metrics have the text format of Prometheus', async () => {
  const feesWei = { 31337: { PAYMENT: 7 } }
  const { get } = await monitor({ ...createMetrics(), feesRaised: 2, sessionOpen: 1, feesWei })
  const answer = await get('/metrics')
  expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  const text = await answer.text()
  for (const lines of [
    '# TYPE solver_fees_raised_total counter\nsolver_fees_raised_total 2\n',
    '# TYPE solver_session_open gauge\nsolver_session_open 1\n',
    '# TYPE solver_fees_wei_total counter\nsolver_fees_wei_total{chain="31337",purpose="PAYMENT"} 7\n',
  ])
    expect(text).toContain(lines)
  for (const line of text.trim().split('\n'))
    expect(line).toMatch(/^(# TYPE )?solver_[a-z_]+({chain="\d+",purpose="[A-Z]+"})? (\d+|counter|gauge)$/)
})

it.each([
  [200, []],
  [503, ['no instance is connected']],
])('the health has status %s with the problems %j', async (status, problems) => {
  const { get } = await monitor(createMetrics(), problems)
  const answer = await get('/health')
  expect([answer.status, await answer.json()]).toEqual([status, { problems }])
})

it('another path is not found', async () => {
  const { get } = await monitor()
  expect((await get('/quote')).status).toBe(404)
})

it('a port that is taken is named', async () => {
  const { port } = await monitor()
  await expect(startMonitoring(port, '127.0.0.1', createMetrics, () => [])).rejects.toThrow(
    /^metricsPort cannot be opened: listen EADDRINUSE/,
  )
})
