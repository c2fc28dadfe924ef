/**
 * Finds file names in place of host names. A glob without a slash is a host, so `'*.pdf'` would match the hosts of a
 * domain that does not exist, and nothing else.
 */

/** Endings of files that are not top-level domains (`.zip`, `.mov`, `.md`, `.sh` and `.app` are). */
const ENDINGS: ReadonlySet<string> = new Set(
  [
    '7z apk asp aspx atom avi avif bin bmp bz2 cgi class css csv deb dmg doc docx eot epub exe flac flv gif gz',
    'htm html ico ics iso jar jpeg jpg js json jsp jsx kml less log m3u8 m4a m4v mjs mkv mp3 mp4 mpeg mpg',
    'msi odp ods odt ogg ogv otf pdf php php3 phtml png ppt pptx psd rar rpm rss rtf scss shtml sql svg swf tar tgz',
    'tif tiff ts tsv tsx ttf txt wasm wav webm webmanifest webp wmv woff woff2 xhtml xls xlsx xml xsd xsl xslt xz yaml',
    'yml zst',
  ].flatMap((line) => line.split(' ')),
)

/** Whether a host, possibly with wildcards, ends like a file: `*.pdf`, `report.html`. */
export function isFileName(host: string): boolean {
  return ENDINGS.has(host.slice(host.lastIndexOf('.') + 1).toLowerCase()) && host.includes('.')
}

/** The glob for files of this name in all directories: two stars between slashes, then the name. */
export function globForFiles(pattern: string): string {
  return `/**/${pattern.replace(/^\*+/, '*')}`
}
