import { startChild } from '../test/support/process/child-process.js'
import { SERVICE_FLAGS } from './built-service.js'

export type BareServer = Awaited<ReturnType<typeof startBareServer>>

/** A bare `ws` server in a process of its own, with the flags of the service. */
export async function startBareServer() {
  const child = startChild(process.execPath, [...SERVICE_FLAGS, 'bench/bare-ws.mjs'], {})
  const [, port] = await child.waitFor(/listening (\d+)/)
  return {
    socketUrl: `ws://127.0.0.1:${port}`,
    pid: child.child.pid ?? 0,
    /** Sets the messages of each later broadcast. */
    prepare: (messages: readonly string[]) => void child.child.stdin.write(`${JSON.stringify(messages)}\n`),
    /** Sends the messages to all clients. */
    broadcast: () => void child.child.stdin.write('go\n'),
    async stop() {
      child.signal('SIGTERM')
      await child.exited
    },
  }
}
