import { type ResourceLimits, Worker } from 'node:worker_threads'

/**
 * Starts a thread from a compiled module, or from its source where the service runs from TypeScript: threads do not inherit the
 * TypeScript loader of the main thread.
 * @param name of the module, without an ending
 * @param from `import.meta.url` of a module in its folder
 */
export function startThread(
  name: string,
  from: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Worker {
  if (!from.endsWith('.ts')) return new Worker(new URL(`./${name}.js`, from), { workerData, resourceLimits })
  const source = new URL(`./${name}.ts`, from).href
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import('${source}')))`
  return new Worker(script, { eval: true, workerData, resourceLimits })
}
