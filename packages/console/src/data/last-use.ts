import { signal } from '@preact/signals'

const ACTS = ['pointermove', 'pointerdown', 'click', 'keydown', 'wheel', 'touchstart', 'focus', 'hashchange']
/** Acts of this time after one that was noted are no news. */
const NOTED_EVERY_MS = 1000

/**
 * When a person last did something here, Unix time in milliseconds: pointer, key, touch, focus, another page, or the tab shown
 * again. 0 before the first time.
 */
export const usedAt = signal(0)

function note(): void {
  if (!document.hidden && Math.abs(Date.now() - usedAt.peek()) >= NOTED_EVERY_MS) usedAt.value = Date.now()
}

for (const act of ACTS)
  addEventListener(
    act,
    (event) => {
      // Browsers also report a resting pointer, when what is below it has changed.
      const { type, movementX, movementY } = event as PointerEvent
      if (type !== 'pointermove' || movementX !== 0 || movementY !== 0) note()
    },
    { capture: true, passive: true },
  )
document.addEventListener('visibilitychange', note)
