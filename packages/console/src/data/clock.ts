import { computed, signal } from '@preact/signals'
import { aheadMs } from './instance-time.js'

/** Whether the tab can be seen. Streams and polls rest while it cannot. */
export const isVisible = signal(!document.hidden)
document.addEventListener('visibilitychange', () => {
  isVisible.value = !document.hidden
})

/** Whether the instance has answered the last question after its health. */
export const isReachable = signal(true)

/** Unix time in milliseconds, each second while the tab can be seen. */
export const now = signal(Date.now())
setInterval(() => {
  if (isVisible.value) now.value = Date.now()
}, 1000)

/** The later one of the clocks of this computer and of the instance, to compare with deadlines: a slow clock must not open them again. */
export const latestNow = computed(() => now.value + aheadMs.value)
