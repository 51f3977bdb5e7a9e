import { spawnSync } from 'node:child_process'
import { freePort } from '../../support/free-port.js'
import { startChild } from '../../support/process/child-process.js'

const PRISM = '@stoplight/prism-cli@5.16.0'

/** Whether npm gives Prism. */
export function hasPrism(): boolean {
  return spawnSync('npx', ['--yes', PRISM, '--version']).status === 0
}

/**
 * Starts Prism as a validating proxy.
 * @param upstream serves `/openapi.json` and the API
 */
export async function startPrism(upstream: string) {
  const port = await freePort()
  const options = ['--host', '127.0.0.1', '--port', String(port), '--cors', 'false']
  const args = ['--yes', PRISM, 'proxy', `${upstream}/openapi.json`, upstream, ...options]
  const prism = startChild('npx', args, {}, { ownGroup: true })
  await prism.waitFor(/Prism is listening/)
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const { pid } = prism.child
      if (pid !== undefined && prism.leftSomething()) process.kill(-pid, 'SIGTERM')
      await prism.exited
    },
  }
}
