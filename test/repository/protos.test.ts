import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { describe, expect, it, onTestFinished } from 'vitest'

const NEEDED = ['/usr/bin/protoc', '/usr/include/google/protobuf/descriptor.proto']
const run = promisify(execFile)
const files = readdirSync('proto', { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.proto'),
)

describe.skipIf(!NEEDED.every(existsSync))('protoc (skipped when it is not installed)', () => {
  it('compiles the folder proto without any other folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'protos-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const out = join(folder, 'all.binpb')
    await run('/usr/bin/protoc', [
      '-I',
      'proto',
      '--include_imports',
      `--descriptor_set_out=${out}`,
      ...files,
    ])
    const { file } = fromBinary(FileDescriptorSetSchema, await readFile(out))
    const names = file.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(files))
    const services = file.flatMap(({ service }) => service.map(({ name }) => name)).sort()
    expect(services).toEqual([
      'ChainService',
      'EventService',
      'OrderService',
      'QuoteService',
      'SolverService',
    ])
  })
})

it('the npm package has the protos, and those of Google with their license', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const packed = JSON.parse(stdout)[0].files.map(({ path }: { path: string }) => path)
  expect(packed).toEqual(expect.arrayContaining(files.map((path) => `proto/${path}`)))
  expect(packed).toContain('proto/google/LICENSE')
})
