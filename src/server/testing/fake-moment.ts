/** A made-up moment, so that ages on screenshots are always the same. */
export const NOW = Date.UTC(2026, 10, 14, 18, 30)
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const COMMIT = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'
