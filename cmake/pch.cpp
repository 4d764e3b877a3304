// Carries the shared precompiled header (see Spokeshave.cmake).
