/** Every bound in one place. A queue, a retry, a page or a body without a number here is a defect. */
export const LIMITS = {
  /** Manifests */
  fileBytes: 4 * 1024 * 1024,
  files: 5000,
  treeBytes: 64 * 1024 * 1024,
  documentsPerFile: 10000,
  yamlDepth: 64,
  /** Characters of one document that needs the full (slow) YAML reader. */
  yamlDocumentBytes: 256 * 1024,
  yamlAliases: 100,
  yamlNodes: 200_000,
  pathBytes: 1024,
  directoryEntries: 100_000,
  directoryDepth: 32,
  cachedTrees: 50,
  cacheBytes: 64 * 1024 * 1024,
  gitBytes: 96 * 1024 * 1024,
  gitTimeoutMs: 120_000,
  problemsShown: 100,
  /** Outside answers */
  responseBytes: 64 * 1024 * 1024,
  foreignTextLength: 2000,
  foreignNameLength: 256,
  surveyEntries: 200_000,
  /** Settings of one list that are read one by one, where the list itself does not say enough. */
  settingsReadClosely: 500,
  requestTimeoutMs: 30_000,
  connectTimeoutMs: 10_000,
  /** Shorter than Proxmox's own, so that it is we who close. */
  idleConnectionMs: 4_000,
  /** Examination of a connection: one call for each. */
  examinedHosts: 64,
  examinedPaths: 128,
  /** Programs on other computers */
  commandTimeoutMs: 60_000,
  commandOutputBytes: 16 * 1024 * 1024,
  shellFileBytes: 64 * 1024 * 1024,
  /** Engine */
  identicalFailuresUntilStalled: 5,
  backoff: { baseMs: 1_000, factor: 2, maxMs: 300_000 },
  waitingBackoff: { baseMs: 1_000, factor: 1.5, maxMs: 30_000 },
  connectionBackoff: { baseMs: 2_000, factor: 2, maxMs: 60_000 },
  /** A connection that says no (wrong token, missing right) is asked at most once a minute. */
  refusedConnectionMs: 60_000,
  /** A machine that we restarted has this long to become Ready before the next one may be restarted. */
  restartGraceMs: 600_000,
  /** A connection that looks suspicious is looked at this often in a row before anybody is troubled with it. */
  suspiciousPasses: 3,
  sweepIntervalMs: 10_000,
  shortestLookMs: 100,
  readinessPollMs: 1_000,
  taskPollMs: 500,
  taskPollMaxMs: 2_000,
  /** Clusters: how long things may take before they count as failed, and how fresh evidence must be. */
  machineBootMs: 600_000,
  /** etcd itself gives up on a learner after five minutes. */
  clusterJoinMs: 300_000,
  snapshotFreshMs: 3_600_000,
  healthCheckFreshMs: 300_000,
  healthCheckAgainMs: 60_000,
  /** A node whose readiness changed more often than this within an hour is flapping. */
  readyChangesPerHour: 6,
  /** Store */
  eventsKept: 10_000,
  storedValueLength: 1024 * 1024,
  storeBusyMs: 5_000,
  damagedStoresKept: 100,
  /** Terminal */
  shownValueLength: 200,
  progressLinesShown: 12,
  heartbeatMs: 10_000,
  settleDeadlineMs: 30 * 60_000,
} as const
