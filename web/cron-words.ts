const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

/** Returns a schedule in words: `30 23 * * *` is `23:30 every day`. Complex ones stay as they are. */
export function cronWords(line: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = line.trim().split(/\s+/)
  if (more.length > 0 || !/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour) || day !== '*' || month !== '*')
    return line
  const days = weekday === '*' ? 'every day' : daysOf(weekday)
  return days === undefined ? line : `${hour.padStart(2, '0')}:${minute.padStart(2, '0')} ${days}`
}

function daysOf(text: string): string | undefined {
  const parts = text.split(',').map((part) => {
    const [from, to, ...rest] = part.split('-').map(dayOf)
    if (from === undefined || rest.length > 0) return undefined
    if (!part.includes('-')) return from
    return to === undefined ? undefined : `${from} to ${to}`
  })
  return parts.includes(undefined) ? undefined : parts.join(', ')
}

/** 0 and 7 are both Sunday; names are taken as they are. */
function dayOf(text: string): string | undefined {
  if (/^[0-7]$/.test(text)) return DAYS[Number(text) % 7]
  return DAYS.find((day) => day.toLowerCase() === text.toLowerCase())
}
