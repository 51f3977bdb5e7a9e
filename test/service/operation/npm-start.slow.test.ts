import { expect, it } from 'vitest'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { startProcess } from '../../support/process/process.js'

it('npm start without variables builds, says all that is missing, points to the demo, and exits with 1', async () => {
  const start = startProcess('npm', ['start'], {})
  expect(await start.exited).toBe(1)
  const variables = ['SUPPORTED_CHAINS', 'RPC_URL_<chainId>', 'SERVICE_ADDRESS_<chainId>']
  for (const variable of variables) expect(start.output()).toContain(`${variable} is missing`)
  expect(start.output()).toContain('npm run demo')
})

it('SIGTERM to npm start ends the service, which says so', async () => {
  const start = startProcess('npm', ['start'], {
    SUPPORTED_CHAINS: '31337',
    RPC_URL_31337: 'http://127.0.0.1:1',
    SERVICE_ADDRESS_31337: `0x${'1'.repeat(40)}`,
    HOST: '127.0.0.1',
    PORT: '0',
    DB_PATH: temporaryFile(),
  })
  await start.waitFor(/"listening"/)
  start.signal('SIGTERM')
  await start.waitFor(/"stopped"/)
})
