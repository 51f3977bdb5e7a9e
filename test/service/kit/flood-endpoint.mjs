/**
 * Floods an endpoint, as a process: so many connections, each with 64 requests at a time, as long as it runs.
 *
 *   node test/service/kit/flood-endpoint.mjs http://127.0.0.1:1/path/quote 32 '{…}'
 */
import { connect } from 'node:net'

const [url = '', connections = '1', body = ''] = process.argv.slice(2)
const { hostname, port, host, pathname } = new URL(url)
const AT_ONCE = 64
const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nx-quote-kind: indicative\r\n\r\n`
const batch = Buffer.from(`${head}${body}`.repeat(AT_ONCE))
let answers = 0

for (let index = 0; index < Number(connections); index++) {
  const socket = connect(Number(port), hostname, () => socket.write(batch))
  let waiting = AT_ONCE
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    const count = text.split('HTTP/1.1 ').length - 1
    answers += count
    waiting -= count
    if (waiting > 0) return
    waiting = AT_ONCE
    socket.write(batch)
  })
  socket.on('error', () => process.exit(1))
}
setInterval(() => process.stdout.write(`${answers} answers\n`), 500)
