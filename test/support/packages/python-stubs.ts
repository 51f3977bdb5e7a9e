import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Debian's Python: its packages are not those of another one. */
export const PYTHON = '/usr/bin/python3'

/** Whether Debian's packages for gRPC in Python are here. Tests of the examples in Python are skipped without them. */
export const HAS_PYTHON_GRPC = [
  PYTHON,
  '/usr/bin/protoc',
  '/usr/bin/grpc_python_plugin',
  '/usr/include/google/protobuf/descriptor.proto',
  '/usr/lib/python3/dist-packages/grpc',
].every(existsSync)

/** Runs the commands of the example's README, with another folder. */
export async function generatePythonStubs(folder: string): Promise<void> {
  const readme = await readFile('examples/python/README.md', 'utf8')
  const commands = /```sh\n(mkdir .*?)```/s.exec(readme)?.[1]
  if (!commands?.includes('protoc -I proto')) throw new Error('the README has no commands for the stubs')
  await promisify(execFile)('bash', ['-ec', commands.replaceAll('/tmp/aggregator-python', folder)])
}
