import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Makes the metrics of a registry, each by its name, its help and the names of its labels. */
export type MetricKinds = ReturnType<typeof createMetricKinds>

export function createMetricKinds(registry: Registry) {
  const registers = [registry]
  return {
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Counter<L>({ name, help, labelNames, registers }),
    gauge: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge<L>({ name, help, labelNames, registers }),
    histogram: <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
      new Histogram<L>({ name, help, labelNames, buckets, registers }),
  }
}
