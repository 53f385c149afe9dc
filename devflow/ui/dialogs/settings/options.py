"""The pages and every option that the search field finds, with the objectName it jumps to."""

from __future__ import annotations

from devflow.domain.messages import Translator
from devflow.ui.dialogs.settings.nav import Place


def pages(t: Translator) -> tuple[Place, ...]:
    """The pages of the column, in its order; only those in which something works."""
    return (
        Place("providers", t("Providers"), "plug"),
        Place("knowledge", t("Knowledge"), "book"),
        Place("tools", t("Tools"), "terminal"),
        Place("appearance", t("Appearance"), "contrast"),
        Place("external", t("External tools"), "link"),
        Place("network", t("Network"), "globe"),
        Place("data", t("Data"), "database"),
    )


def options(t: Translator) -> tuple[Place, ...]:
    """Every option; `words` are other names under which people look for it."""
    rows = (
        ("providers", t("Add a provider"), "addProviderButton", t("model server service")),
        ("providers", t("Test"), "testProviderButton", t("connection reachable")),
        ("providers", t("Key"), "providerKey", t("API key token keychain")),
        ("providers", t("Address"), "providerAddress", t("URL endpoint server")),
        ("providers", t("Models"), "providerModels", ""),
        ("providers", t("Model for the chat"), "mainModel", t("role main model")),
        ("providers", t("Model for digests"), "digestModel", t("role digest model")),
        ("providers", t("Model for extraction"), "extractionModel", t("role extraction model")),
        ("knowledge", t("Extract automatically"), "autoExtract", "auto_extract"),
        ("knowledge", t("When to extract"), "triggerMode", "trigger_mode on_complete on_idle manual_only"),
        ("knowledge", t("Fewest messages"), "minMessages", "min_messages"),
        ("knowledge", t("Quiet time"), "idleTimeoutMs", "idle_timeout_ms " + t("idle timeout")),
        ("knowledge", t("Use knowledge in answers"), "autoInject", "auto_inject " + t("inject injection")),
        ("knowledge", t("Search by meaning"), "vectorEnabled", "vector_enabled " + t("vectors semantic hybrid")),
        ("knowledge", t("Embedding model"), "embeddingModel", "embedding_provider_id embedding_model"),
        ("tools", t("Rules"), "addRuleButton", t("always allow deny ask revoke approval permission")),
        ("tools", t("Add an MCP server"), "addMcpButton", "MCP Model Context Protocol"),
        ("tools", t("Import MCP servers"), "importMcpButton", "mcpServers Claude Desktop Cursor"),
        ("appearance", t("Theme"), "themePicker", t("dark light colours")),
        ("appearance", t("Language"), "languagePicker", "English 中文 Chinese"),
        ("external", t("Tool"), "externalClient", "MCP Claude Code Codex Cursor Gemini CLI"),
        ("external", t("What it may do"), "externalRight", t("read propose manage right permission")),
        ("external", t("Configuration"), "externalConfig", t("copy paste JSON TOML")),
        ("network", t("Proxy"), "proxyMode", ""),
        ("network", t("Address of the proxy"), "proxyUrl", ""),
        ("network", t("Certificate of your own"), "caFile", "CA PEM TLS"),
        ("data", t("Data folder"), "openFolderButton", t("database file path")),
        ("data", t("Log"), "openLogButton", t("errors")),
        ("data", t("Back up now"), "backUpButton", t("copy")),
        ("data", t("Samples"), "samplesButton", t("remove examples")),
    )
    names = {place.page: place.title for place in pages(t)}
    return tuple(Place(page, title, "", option, words, names[page]) for page, title, option, words in rows)
